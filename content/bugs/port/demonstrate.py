"""The 16-bit gradients of a 70B over 64 GPUs."""

GRADIENT_BYTES, RANKS, PORT = 140e9, 64, 400


def demonstrate(code):
    """The floor that the function gives."""
    return f"140 GB over 64 GPUs at 400 Gb/s each: at least {code.ring_floor_s(GRADIENT_BYTES, RANKS, PORT):.2f} s"
