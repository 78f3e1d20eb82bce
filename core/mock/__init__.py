"""Mock interviews: packs from content, a room's events folded into a state, what each role sees, the scorecard."""
