"""What scoring can do besides: save rows, labels and states, and draw."""
