"""Drop-ins: functions with scikit-learn's names, signatures and values that also take sparse matrices as they are."""
