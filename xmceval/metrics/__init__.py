"""The table of all metrics and the parser of their names; scoring/tasks and kernels/metrics compute them."""
