import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Everything the page needs is bundled: it works without a network and under any path.
export default defineConfig({
  base: './',
  plugins: [react()],
  build: { target: 'es2022', sourcemap: false, chunkSizeWarningLimit: 6000, assetsInlineLimit: 0 },
});
