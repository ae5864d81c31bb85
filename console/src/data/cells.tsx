// A value as it is shown: null apart from the empty text, lists as chips, JSON as a tree, geometry as a drawing, bytes by size.

import { useMemo, useState } from 'react';
import { ExactNumber, isScalar } from '../server/exact-number';
import type { Column } from './catalog';

/** Characters of a cell; the rest is in its panel. */
const SHOWN_MAX = 120;
const CHIPS_MAX = 6;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Bytes of `\x00ff`, as PostgreSQL writes them. */
export function bytesOf(column: Column, value: unknown): Uint8Array<ArrayBuffer> | null {
  if (column.type !== 'bytea' || typeof value !== 'string' || !/^\\x([0-9a-f]{2})*$/i.test(value)) return null;
  return Uint8Array.from(value.slice(2).match(/../g) ?? [], it => parseInt(it, 16));
}

export const sizeWords = (count: number) =>
  count < 1024 ? `${count} bytes` : count < 1024 ** 2 ? `${(count / 1024).toFixed(1)} KiB` : `${(count / 1024 ** 2).toFixed(1)} MiB`;

/** Positions of a geometry in GeoJSON, as lines. */
function linesOf(value: unknown): [number, number][][] {
  if (!isRecord(value)) return [];
  if (Array.isArray(value.geometries)) return value.geometries.flatMap(linesOf);
  const walk = (part: unknown): [number, number][][] => {
    if (!Array.isArray(part)) return [];
    const isNumber = (it: unknown) => typeof it === 'number' || it instanceof ExactNumber;
    if (isNumber(part[0])) return [[[Number(part[0]), Number(part[1])]]];
    if (Array.isArray(part[0]) && isNumber(part[0][0])) return [part.map(it => [Number(it[0]), Number(it[1])])];
    return part.flatMap(walk);
  };
  return walk(value.coordinates);
}

export function GeometryDrawing({ value, size }: { value: unknown; size: number }) {
  const lines = useMemo(() => linesOf(value), [value]);
  const all = lines.flat();
  if (all.length === 0) return null;
  const [xs, ys] = [all.map(it => it[0]), all.map(it => it[1])];
  const left = xs.reduce((one, other) => Math.min(one, other));
  const top = ys.reduce((one, other) => Math.max(one, other));
  const extent = Math.max(xs.reduce((one, other) => Math.max(one, other)) - left, top - ys.reduce((one, other) => Math.min(one, other))) || 1;
  const place = ([x, y]: [number, number]) => `${10 + (80 * (x - left)) / extent},${10 + (80 * (top - y)) / extent}`;
  return (
    <svg className="weir-geometry" width={size} height={size} viewBox="0 0 100 100" role="img" aria-label={`${(value as { type?: string }).type ?? 'geometry'} of ${all.length} positions`}>
      {lines.map((line, at) => (line.length === 1
        ? <circle key={at} r="8" cx={place(line[0]!).split(',')[0]} cy={place(line[0]!).split(',')[1]} />
        : <polyline key={at} points={line.map(place).join(' ')} />))}
    </svg>
  );
}

/** JSON as a tree whose parts open by a click. */
export function JsonTree({ value, name }: { value: unknown; name?: string }) {
  const [isOpen, setIsOpen] = useState(name === undefined);
  const label = name === undefined ? null : <b>{name}: </b>;
  if (isScalar(value)) return <div className="weir-leaf">{label}{JSON.stringify(value)}</div>;
  const entries = Object.entries(value as object);
  const words = Array.isArray(value) ? `${entries.length} items` : `${entries.length} members`;
  return (
    <div className="weir-branch">
      <button type="button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>{isOpen ? '▾' : '▸'} {label}{words}</button>
      {isOpen && entries.slice(0, 200).map(([key, item]) => <JsonTree key={key} name={key} value={item} />)}
      {isOpen && entries.length > 200 && <div className="weir-note">{entries.length - 200} more</div>}
    </div>
  );
}

export const isGeometry = (column: Column) => column.type === 'geometry' || column.type === 'geography';

export function valueText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export function CellValue({ column, value }: { column: Column; value: unknown }) {
  if (value === null || value === undefined) return <i className="weir-null">null</i>;
  if (value === '') return <i className="weir-null">empty</i>;
  const bytes = bytesOf(column, value);
  if (bytes) return <span className="weir-chip">{sizeWords(bytes.length)}</span>;
  if (isGeometry(column)) return <><GeometryDrawing value={value} size={22} /> {(value as { type?: string }).type}</>;
  if (Array.isArray(value) && value.every(isScalar)) {
    return <>{value.slice(0, CHIPS_MAX).map((it, at) => <span key={at} className="weir-chip">{String(it)}</span>)}{value.length > CHIPS_MAX && ` +${value.length - CHIPS_MAX}`}</>;
  }
  if (typeof value === 'boolean') return <>{value ? 'true' : 'false'}</>;
  const text = valueText(value);
  return <>{text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text}</>;
}

export const isNumeric = (column: Column) => !column.isList && /^(Int|Float|numeric|money|bigint|smallint|float8|real|Int64|UInt64)$/.test(column.type);
