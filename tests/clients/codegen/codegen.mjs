// Types and documents of shop.graphql, made from the introspection of a running server.

export default {
  schema: process.env.WEIR_URL,
  documents: 'shop.graphql',
  config: { useTypeImports: true, enumsAsTypes: true },
  generates: {
    [`${process.env.WEIR_OUT}/schema.ts`]: { plugins: ['typescript'] },
    [`${process.env.WEIR_OUT}/shop.ts`]: { plugins: ['typescript-operations', 'typed-document-node'] },
  },
};
