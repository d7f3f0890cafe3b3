//! Reads shapes, lines of Python, and error messages.
