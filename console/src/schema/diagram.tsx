// The diagram of a source: boxes of tables and lines of their keys, moved and enlarged by pointer and keyboard.

import { useEffect, useMemo, useRef, useState } from 'react';
import type { KeyboardEvent, PointerEvent } from 'react';
import { addressOf, go, Link, usePlace } from '../shell/place';
import type { Catalog } from './catalog';
import { schemaAddress } from './context';
import { DiagramBoxes } from './diagram-boxes';
import { layoutOf } from './diagram-layout';
import type { Box, Detail, Layout } from './diagram-layout';
import { saveText, svgText } from './diagram-svg';
import { shownName } from '../metadata/table-name';

interface View {
  x: number;
  y: number;
  scale: number;
}

const SCALE_MIN = 0.05;
const SCALE_MAX = 3;
/** Below this a name is not read without zooming. */
const SCALE_READABLE = 0.55;
const STEP = 60;
/** Sources with more tables open with their keys alone. */
const MANY = 40;

/** Height of a box that has to be seen for its name to be read. */
const TITLE_ROOM = 30;

const bounded = (scale: number) => Math.min(SCALE_MAX, Math.max(SCALE_MIN, scale));

interface CanvasProps {
  source: string;
  layout: Layout;
  /** The table that is put into the middle. */
  target: string | null;
}

function Canvas({ source, layout, target }: CanvasProps) {
  const frame = useRef<HTMLDivElement>(null);
  const drag = useRef<{ x: number; y: number; view: View; isMoved: boolean } | null>(null);
  // The click that ends a move opens no table.
  const wasMoved = useRef(false);
  const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 });
  const size = () => ({ width: frame.current?.clientWidth ?? 800, height: frame.current?.clientHeight ?? 600 });
  const fit = (): View => {
    const { width, height } = size();
    const scale = bounded(Math.min(1, width / layout.width, height / layout.height));
    return { scale, x: (width - layout.width * scale) / 2, y: Math.max(0, (height - layout.height * scale) / 2) };
  };
  const centre = (box: Box, scale: number): View => {
    const { width, height } = size();
    return { scale, x: width / 2 - (box.x + box.width / 2) * scale, y: height / 2 - (box.y + Math.min(box.height, height / scale) / 2) * scale };
  };
  useEffect(() => {
    const box = layout.boxes.find(it => it.name === target);
    const whole = fit();
    setView(box ? centre(box, Math.max(whole.scale, 0.8)) : whole.scale < SCALE_READABLE ? { x: 0, y: 0, scale: SCALE_READABLE } : whole);
  }, [layout, target]);
  const zoom = (factor: number, at?: { x: number; y: number }) => setView(old => {
    const { width, height } = size();
    const { x, y } = at ?? { x: width / 2, y: height / 2 };
    const scale = bounded(old.scale * factor);
    return { scale, x: x - ((x - old.x) / old.scale) * scale, y: y - ((y - old.y) / old.scale) * scale };
  });
  // React listens to wheels passively, and the page would scroll too.
  useEffect(() => {
    const element = frame.current;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const place = element!.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / 400), { x: event.clientX - place.left, y: event.clientY - place.top });
    };
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
  }, [layout]);
  const move = (x: number, y: number) => setView(old => ({ ...old, x: old.x + x, y: old.y + y }));
  const onKey = (event: KeyboardEvent) => {
    const moves: Record<string, [number, number]> = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
    const way = moves[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (way) move(...way);
    else if (event.key === '+' || event.key === '=') zoom(1.25);
    else if (event.key === '-') zoom(0.8);
    else if (event.key === '0') setView(fit());
    else return;
    event.preventDefault();
  };
  const onDown = (event: PointerEvent) => {
    wasMoved.current = false;
    if (event.button === 0) drag.current = { x: event.clientX, y: event.clientY, view, isMoved: false };
  };
  const onMove = (event: PointerEvent) => {
    const from = drag.current;
    if (!from) return;
    const [x, y] = [event.clientX - from.x, event.clientY - from.y];
    if (!from.isMoved && Math.abs(x) + Math.abs(y) < 4) return;
    if (!from.isMoved) frame.current?.setPointerCapture(event.pointerId);
    from.isMoved = true;
    wasMoved.current = true;
    setView({ ...from.view, x: from.view.x + x, y: from.view.y + y });
  };
  const reveal = (box: Box) => setView(old => {
    const { width, height } = size();
    const [left, top] = [box.x * old.scale + old.x, box.y * old.scale + old.y];
    const isInside = left >= 0 && top >= 0 && left + box.width * old.scale <= width && top + TITLE_ROOM * old.scale <= height;
    return isInside ? old : centre(box, Math.max(old.scale, SCALE_READABLE));
  });
  return (
    <>
      <div className="weir-tools">
        <button type="button" className="weir-button" aria-label="Zoom in" onClick={() => zoom(1.25)}>+</button>
        <button type="button" className="weir-button" aria-label="Zoom out" onClick={() => zoom(0.8)}>−</button>
        <button type="button" className="weir-button" onClick={() => setView(fit())}>Whole</button>
        <button type="button" className="weir-button" onClick={() => saveText(svgText(layout, source), `${source}.svg`, 'image/svg+xml')}>Save as SVG</button>
        <span className="weir-note" data-testid="zoom">{Math.round(view.scale * 100)} %</span>
      </div>
      <div
        ref={frame} className="weir-diagram" tabIndex={0} role="group" aria-label={`Diagram of ${source}: arrows move it, plus and minus zoom, 0 shows all`} data-testid="diagram"
        onKeyDown={onKey} onPointerDown={onDown} onPointerMove={onMove} onPointerUp={() => (drag.current = null)} onPointerCancel={() => (drag.current = null)}
        onDragStart={event => event.preventDefault()}
        onClickCapture={event => {
          if (wasMoved.current) {
            event.preventDefault();
            event.stopPropagation();
          }
          wasMoved.current = false;
        }}
        // A table that the focus reaches is moved into view by the diagram, not by the frame's own scrolling.
        onScroll={event => event.currentTarget.scrollTo(0, 0)}
      >
        <svg width="100%" height="100%">
          <g transform={`translate(${view.x.toFixed(1)} ${view.y.toFixed(1)}) scale(${view.scale.toFixed(4)})`}>
            <DiagramBoxes source={source} layout={layout} target={target} onReveal={reveal} />
          </g>
        </svg>
      </div>
    </>
  );
}

export default function Diagram({ source, catalog }: { source: string; catalog: Catalog }) {
  const { search } = usePlace();
  const schemas = [...new Set(catalog.tables.map(it => it.schema))];
  const schema = search.get('schema') ?? '';
  const detail = (['names', 'keys', 'all'] as const).find(it => it === search.get('detail')) ?? (catalog.tables.length > MANY ? 'keys' : 'all');
  const target = search.get('table');
  const shown = useMemo(() => catalog.tables.filter(it => schema === '' || it.schema === schema), [catalog, schema]);
  const layout = useMemo(() => layoutOf(catalog, shown, detail), [catalog, shown, detail]);
  const open = (more: Record<string, string>) => go(addressOf(['schema', source], { view: 'diagram', schema, detail: search.get('detail') ?? '', table: target ?? '', ...more }), { replace: true });
  return (
    <div className="weir-drawing">
      <h1>Diagram of {source}</h1>
      <div className="weir-tools">
        {schemas.length > 1 && (
          <select className="weir-field" aria-label="Schema" value={schema} onChange={event => open({ schema: event.target.value, table: '' })}>
            <option value="">all schemas</option>
            {schemas.map(it => <option key={it}>{it}</option>)}
          </select>
        )}
        <select className="weir-field" aria-label="Columns" value={detail} onChange={event => open({ detail: event.target.value as Detail })}>
          <option value="names">names alone</option>
          <option value="keys">keys</option>
          <option value="all">all columns</option>
        </select>
        <select className="weir-field" aria-label="Show table" value={target ?? ''} onChange={event => open({ table: event.target.value })}>
          <option value="">show table …</option>
          {shown.map(it => <option key={shownName(it)}>{shownName(it)}</option>)}
        </select>
        {target !== null && target !== '' && <Link className="weir-button" to={schemaAddress(source, target)}>Open {target}</Link>}
      </div>
      {shown.length === 0 ? <p className="weir-note">There is no table to draw.</p> : <Canvas key={`${schema} ${detail}`} source={source} layout={layout} target={target} />}
    </div>
  );
}
