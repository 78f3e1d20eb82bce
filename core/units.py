"""The one home of prefixes: decimal for rates, parameters and paper tables, binary for device memory and allocators."""

KB = 10**3
MB = 10**6
GB = 10**9
TB = 10**12

KIB = 2**10
MIB = 2**20
GIB = 2**30
TIB = 2**40

TFLOP = 10**12
PFLOP = 10**15

BITS_PER_BYTE = 8
MICROSECOND = 1e-6
MILLISECOND = 1e-3
