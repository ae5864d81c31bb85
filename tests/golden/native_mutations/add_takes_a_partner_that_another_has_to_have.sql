-- native_mutations

