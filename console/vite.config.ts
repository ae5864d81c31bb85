import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Everything the page needs is bundled: it works without a network. Views have addresses of their own, so links to files are absolute.
export default defineConfig({
  base: '/console/',
  plugins: [react()],
  build: { target: 'es2022', sourcemap: false, chunkSizeWarningLimit: 6000, assetsInlineLimit: 0 },
});
