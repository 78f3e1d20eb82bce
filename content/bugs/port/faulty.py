def ring_floor_s(num_bytes, ranks, port):
    """Least time of a ring all-reduce of so many bytes."""
    sent = 2 * (ranks - 1) / ranks * num_bytes
    bytes_per_s = port * 1e9
    return sent / bytes_per_s
