"""The loader: compile kernels once per machine, and call them without importing numba.

What it takes: a function with the decorator ``kernel``, of arrays of numbers in the machine's byte order, numbers, and
tuples of these, all by position. What it returns: an int64, uint64, float64, bool, or a tuple of them; narrower numbers
are extended, with their sign if they have one. A kernel may call functions with the decorators ``helper`` and
``function`` of any file of this package, and the instructions of ``kernels/vector``. It keeps the exception of a
kernel, releases the GIL, and divides by zero as numpy does.

What is saved: object code for one signature, in the first folder that only this user can write to (`cache`). Its key
has the sources of all of ``kernels``, the versions of Python, numpy and numba, the processor and numba's settings.
Nothing in such a file is unpickled.

What it leans on: of numba, the classes that `pipeline` derives from (Compiler, JITCodeLibrary, the lowering of
functions) and the layout of its exceptions (`entries`); of CPython and numpy, the places of data, shape and strides in
an array (`compiler`). `pipeline` is a short way through numba; what fails there is compiled with all of numba's passes,
and what fails there too, or in an environment with XMCEVAL_PLAIN_NUMBA=1, is compiled by `dispatchers` in the way that
numba documents, with numba's own cache: the same values, a slower start. `entries.fallen_back` lists such kernels, and
the tests of kernels, which CI runs in both ways, hold that it is empty with the numba that is installed.
"""
