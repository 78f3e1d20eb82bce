def step_loss(token_losses, mask, all_reduce_sum, world):
    """Mean loss over the real tokens of all ranks."""
    kept = token_losses[mask]
    local = kept.mean()
    total = all_reduce_sum(local)
    return total / world
