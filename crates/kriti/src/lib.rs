//! Kriti, the template language in which Hasura's transforms are written: text in, parsed template out; template and values in,
//! JSON out. No input or output.
