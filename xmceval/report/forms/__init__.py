"""Forms: each draws a sheet, or writes results for programs."""
