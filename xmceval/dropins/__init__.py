"""Drop-in replacements for scikit-learn functions that also accept sparse matrices."""
