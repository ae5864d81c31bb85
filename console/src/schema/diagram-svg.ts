// The diagram as a file: the boxes and lines of the page, in light colours of its own.

import { cut, LINE_HEIGHT, pathOf, TITLE_HEIGHT } from './diagram-layout';
import type { Box, Layout } from './diagram-layout';

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '').replace(/[&<>"']/g, it => ESCAPES[it]!);

const STYLE = 'text{font:12px ui-monospace,monospace;fill:#1c232b}.title{font-weight:700}.type{fill:#566170}.key{fill:#0b5c7a;font-weight:700}'
  + 'rect{fill:#fff;stroke:#8a96a3}.head{fill:#e3f2f8}path{fill:none;stroke:#566170;stroke-width:1.3}marker path{fill:#566170}';

function boxText({ name, x, y, width, height, lines }: Box): string {
  const rows = lines.map((it, at) => {
    const top = y + TITLE_HEIGHT + 4 + at * LINE_HEIGHT + 12;
    const kind = it.isKey ? ' class="key"' : '';
    return `<text${kind} x="${x + 8}" y="${top}">${escaped(cut(it.name))}</text><text class="type" text-anchor="end" x="${x + width - 8}" y="${top}">${escaped(cut(it.type, 24))}</text>`;
  });
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/><rect class="head" x="${x}" y="${y}" width="${width}" height="${TITLE_HEIGHT}" rx="6"/>`
    + `<text class="title" x="${x + 8}" y="${y + 17}">${escaped(cut(name))}</text>${rows.join('')}`;
}

export function svgText(layout: Layout, title: string): string {
  const [width, height] = [Math.ceil(layout.width), Math.ceil(layout.height)];
  const edges = layout.edges.map(it => `<path d="${pathOf(it.points)}" marker-end="url(#end)"><title>${escaped(`${it.from} (${it.label}) to ${it.to}`)}</title></path>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><title>${escaped(title)}</title><style>${STYLE}</style>`
    + '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>'
    + `${edges.join('')}${layout.boxes.map(boxText).join('')}</svg>`;
}

/** Lets the browser keep a text as a file. */
export function saveText(text: string, name: string, type: string) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
