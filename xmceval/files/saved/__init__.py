"""What xmceval writes and reads back: values of rows and labels, and states."""
