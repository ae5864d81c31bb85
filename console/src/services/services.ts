// Services as the server lists them, with the counts of its metrics.

import { Metrics, readMetrics } from '../operations/metrics';
import { metricsText, readOperator } from '../server/requests';

export interface Service {
  source: string;
  name: string;
  in_flight: number;
  waiting: number;
  /** Null: it has no breaker. */
  breaker_open: boolean | null;
  connectors: string[];
}

export interface Look {
  services: Service[];
  metrics: Metrics;
}

interface Listed {
  sources: { name: string; services: Omit<Service, 'source'>[] }[];
}

export async function loadServices(): Promise<Look> {
  const [listed, text] = await Promise.all([readOperator('/admin/services').then(it => it.json() as Promise<Listed>), metricsText()]);
  return { services: listed.sources.flatMap(({ name, services }) => services.map(it => ({ ...it, source: name }))), metrics: new Metrics(readMetrics(text)) };
}

export interface Counts {
  calls: number;
  /** Outcomes with their numbers: classes of statuses, or codes of errors. */
  outcomes: [string, number][];
  retries: number;
  hedges: number;
  mean_us: number | null;
  p95_us: number | null;
}

/** A share of durations ended within this time; the bound of the bucket in which the share is reached. */
export function quantileUs(metrics: Metrics, name: string, labels: Record<string, string>, share: number): number | null {
  const bounds = new Map<number, number>();
  for (const it of metrics.all(`${name}_bucket`)) {
    if (!Object.entries(labels).every(([key, value]) => it.labels[key] === value)) continue;
    const bound = Number((it.labels.le ?? '').replace('+Inf', 'Infinity'));
    bounds.set(bound, (bounds.get(bound) ?? 0) + it.value);
  }
  const sorted = [...bounds].sort(([one], [other]) => one - other);
  const all = sorted.at(-1)?.[1] ?? 0;
  const reached = sorted.find(([, count]) => all > 0 && count >= share * all);
  return reached && Number.isFinite(reached[0]) ? reached[0] * 1e6 : null;
}

/** The counts of a service, or of one of its connectors. */
export function countsOf(metrics: Metrics, labels: { source: string; service: string; connector?: string }): Counts {
  const outcomes = new Map<string, number>();
  for (const it of metrics.all('weir_service_calls_total')) {
    if (!Object.entries(labels).every(([key, value]) => it.labels[key] === value)) continue;
    const outcome = it.labels.outcome ?? '';
    if (it.value > 0) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + it.value);
  }
  const ended = metrics.sum('weir_service_call_duration_seconds_count', labels) ?? 0;
  const seconds = metrics.sum('weir_service_call_duration_seconds_sum', labels) ?? 0;
  return {
    calls: [...outcomes.values()].reduce((sum, it) => sum + it, 0),
    outcomes: [...outcomes].sort(([one], [other]) => (one < other ? -1 : 1)),
    retries: metrics.sum('weir_service_retries_total', labels) ?? 0,
    hedges: metrics.sum('weir_service_hedges_total', labels) ?? 0,
    mean_us: ended > 0 ? (1e6 * seconds) / ended : null,
    p95_us: quantileUs(metrics, 'weir_service_call_duration_seconds', labels, 0.95),
  };
}

/** How answers of a connector were come by: the outcomes of the cache that are not zero. These metrics name the service as their source. */
export function cacheWords(metrics: Metrics, service: string, connector: string): string {
  const own = metrics.all('weir_cache_answers_total').filter(it => it.labels.source === service && it.labels.connector === connector && it.value > 0);
  return own.map(it => `${it.labels.outcome} ${it.value.toLocaleString('en')}`).join(', ');
}

export const isBadOutcome = (outcome: string) => !/^[23]xx$/.test(outcome);
