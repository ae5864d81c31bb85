//! What is read, and what comes of it.
