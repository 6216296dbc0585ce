"""Drop-in replacements for functions of scikit-learn that also take sparse matrices."""
