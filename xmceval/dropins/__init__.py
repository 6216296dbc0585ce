"""Drop-ins: functions with the names and arguments of scikit-learn's, for sparse matrices too."""
