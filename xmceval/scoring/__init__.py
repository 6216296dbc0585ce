"""Scoring: options, the program of tasks, and the way of a batch of rows into totals and estimates."""
