//! Time per field of lists through resolvers.

fn main() {}
