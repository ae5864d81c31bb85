// Boxes and lines of a diagram. They are drawn anew when the layout changes, not when it is moved.

import { memo } from 'react';
import type { MouseEvent } from 'react';
import { go } from '../shell/place';
import { schemaAddress } from './context';
import { cut, LINE_HEIGHT, pathOf, TITLE_HEIGHT } from './diagram-layout';
import type { Box, Layout } from './diagram-layout';

interface Props {
  source: string;
  layout: Layout;
  target: string | null;
  onReveal: (box: Box) => void;
}

function follow(event: MouseEvent, address: string) {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  go(address);
}

function BoxView({ source, box, isTarget, targets, onReveal }: { source: string; box: Box; isTarget: boolean; targets: string[]; onReveal: (box: Box) => void }) {
  const { name, table, x, y, width, height, lines } = box;
  const address = schemaAddress(source, name);
  const words = `${name}, ${table.columns.length} columns${targets.length > 0 ? `, leads to ${[...new Set(targets)].join(' and ')}` : ''}`;
  return (
    <g className={isTarget ? 'weir-box weir-box-target' : 'weir-box'}>
      <a href={address} aria-label={words} draggable={false} onClick={event => follow(event, address)} onFocus={() => onReveal(box)}>
        <rect x={x} y={y} width={width} height={height} rx={6} />
        <rect className="weir-box-head" x={x} y={y} width={width} height={TITLE_HEIGHT} rx={6} />
        <text className="weir-box-title" x={x + 8} y={y + 17}>{cut(name)}</text>
      </a>
      {/* Beside the link, whose name is what a reader is told. */}
      <g aria-hidden="true" className="weir-box-lines">
        {lines.map((it, at) => {
          const top = y + TITLE_HEIGHT + 4 + at * LINE_HEIGHT + 12;
          return (
            <g key={at}>
              <text className={it.isKey ? 'weir-box-key' : undefined} x={x + 8} y={top}>{cut(it.name)}</text>
              <text className="weir-box-type" textAnchor="end" x={x + width - 8} y={top}>{cut(it.type, 24)}</text>
            </g>
          );
        })}
      </g>
    </g>
  );
}

export const DiagramBoxes = memo(function DiagramBoxes({ source, layout, target, onReveal }: Props) {
  return (
    <>
      <defs>
        <marker id="weir-end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" /></marker>
      </defs>
      {layout.edges.map((it, at) => <path key={at} className="weir-edge" d={pathOf(it.points)} markerEnd="url(#weir-end)"><title>{`${it.from} (${it.label}) to ${it.to}`}</title></path>)}
      {layout.boxes.map(it => (
        <BoxView key={it.name} source={source} box={it} isTarget={it.name === target} targets={layout.edges.filter(edge => edge.from === it.name).map(edge => edge.to)} onReveal={onReveal} />
      ))}
    </>
  );
}, (before, after) => before.layout === after.layout && before.target === after.target);
