// Metrics in the text format of Prometheus. Source: Prometheus, exposition formats.

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const unescaped = (text: string) => text.replace(/\\(.)/g, (_, it: string) => (it === 'n' ? '\n' : it));

export function readMetrics(text: string): Sample[] {
  return text.split('\n').flatMap(line => {
    const [, name, labels = '', value] = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
    if (name === undefined || value === undefined) return [];
    const pairs = [...labels.matchAll(/([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(it => [it[1]!, unescaped(it[2]!)]);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value.replace('+Inf', 'Infinity')) }];
  });
}

export class Metrics {
  constructor(readonly samples: Sample[]) {}

  /** The sum of a metric over all samples that have these labels; nothing if there is none. */
  sum(name: string, labels: Record<string, string> = {}): number | null {
    const found = this.samples.filter(it => it.name === name && Object.entries(labels).every(([key, value]) => it.labels[key] === value));
    return found.length === 0 ? null : found.reduce((sum, it) => sum + it.value, 0);
  }

  /** The values of a label, each once. */
  values(name: string, label: string): string[] {
    return [...new Set(this.samples.filter(it => it.name === name).flatMap(it => it.labels[label] ?? []))];
  }

  all(name: string): Sample[] {
    return this.samples.filter(it => it.name === name);
  }
}
