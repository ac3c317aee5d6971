"""The compiled loops, and the thread pool that runs them over fixed row blocks.

Every kernel is serial, releases the interpreter lock and writes into arrays it is given.  Which rows make
a block depends on the shape of the data alone, and partial sums are added in block order: the result is
the same to the last bit for any number of threads.
"""
