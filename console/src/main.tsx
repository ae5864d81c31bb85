// Entry: the shell, which loads each page when it is opened.

import { createRoot } from 'react-dom/client';
import { Shell } from './shell/shell';
import './shell/console.css';

createRoot(document.getElementById('root')!).render(<Shell />);
