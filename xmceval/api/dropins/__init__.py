"""Drop-ins: scikit-learn's names, signatures and values, for sparse matrices too, which are never made dense."""
