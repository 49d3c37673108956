"""The parts of `triton_kernels.py`: how text is written, what a launch says, and the kinds of kernels."""
