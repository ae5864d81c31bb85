// Draws the charts of a report from the JSON beside them. Texts from outside reach the page as text nodes only.
'use strict';
(() => {
  const root = document.documentElement;
  const charts = JSON.parse(document.getElementById('charts').textContent);
  const drawn = new Map();
  const css = name => getComputedStyle(root).getPropertyValue(name).trim();

  const digits = value => {
    const size = Math.abs(value);
    const text = size >= 100 ? Math.round(value).toLocaleString('en') : size >= 10 ? value.toFixed(1) : value.toFixed(2);
    return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  };
  const scaled = (value, steps) => {
    const [size, unit] = steps.find(it => Math.abs(value) >= it[0]) ?? steps.at(-1);
    return digits(value / size) + unit;
  };
  const units = {
    seconds: it => (it === 0 ? '0' : scaled(it, [[1, ' s'], [1e-3, ' ms'], [1e-6, ' us']])),
    clock: it => (it >= 120 && it % 30 === 0 ? `${digits(it / 60)} min` : `${digits(it)} s`),
    rate: it => scaled(it, [[1e9, 'G/s'], [1e6, 'M/s'], [1e3, 'k/s'], [1, '/s']]),
    bytes: it => scaled(it, [[1e9, ' GB'], [1e6, ' MB'], [1e3, ' kB'], [1, ' B']]),
    percent: it => `${digits(it * 100)} %`,
    // x is 1 / (1 - quantile), so that each nine takes as much room as the one before.
    percentile: it => `${+(100 - 100 / it).toFixed(Math.max(0, Math.ceil(Math.log10(it)) - 1))} %`,
    number: digits,
    cores: it => digits(it),
    factor: it => `${digits(it)} x`,
  };
  const show = (unit, value) => (value == null ? '–' : units[unit](value));

  /** Ticks of a logarithmic axis: 50 % and the nines, or 1-2-5 over few decades and powers of ten over many. */
  function ticks(unit, low, high) {
    const marks = [];
    const steps = unit === 'percentile' || high / low > 1e3 ? [1] : [1, 2, 5];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
      marks.push(...steps.map(it => it * 10 ** power));
    }
    if (unit === 'percentile') marks[0] = 2;
    return marks.filter(it => it >= low * 0.999 && it <= high * 1.001);
  }

  function axis(side, spec) {
    const result = {
      scale: side,
      stroke: css('--muted'),
      font: '12px system-ui, sans-serif',
      grid: { stroke: css('--grid'), width: 1 },
      ticks: { stroke: css('--grid'), width: 1 },
      values: (_, list) => list.map(it => (it == null ? '' : show(spec.unit, it))),
    };
    if (side === 'y') result.size = 64;
    if (spec.unit === 'clock') result.incrs = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600];
    if (spec.log) {
      result.splits = self => ticks(spec.unit, self.scales[side].min, self.scales[side].max);
      result.filter = (_, list) => list;
    }
    return result;
  }

  const bottom = spec => (_, low, high) => {
    if (spec.log) return [(low ?? 1e-6) * 0.9, (high ?? 1) * 1.1];
    return [Math.min(0, low ?? 0), high > 0 ? high * 1.06 : 1];
  };

  function cells(chart) {
    const most = Math.log1p(Math.max(...chart.cells.map(it => it[4])));
    return self => {
      const context = self.ctx;
      const [red, green, blue] = css('--heat').split(' ');
      context.save();
      context.beginPath();
      context.rect(self.bbox.left, self.bbox.top, self.bbox.width, self.bbox.height);
      context.clip();
      for (const [left, right, low, high, count] of chart.cells) {
        const [x, end] = [left, right].map(it => Math.round(self.valToPos(it, 'x', true)));
        const [y, foot] = [high, low].map(it => Math.round(self.valToPos(it, 'y', true)));
        const strength = 0.12 + 0.88 * (Math.log1p(count) / most);
        context.fillStyle = `rgba(${red}, ${green}, ${blue}, ${strength})`;
        context.fillRect(x, y, end - x, foot - y);
      }
      context.restore();
    };
  }

  function options(chart, width) {
    const log = spec => (spec.log ? { distr: 3, log: 10 } : {});
    const heat = chart.cells.length > 0;
    const series = chart.series.map((it, index) => ({
      label: it.name,
      stroke: css(`--line-${index % 6}`),
      width: heat ? 0 : 2,
      dash: it.dashed ? [6, 4] : undefined,
      points: { show: it.points ?? false, size: 7, fill: css(`--line-${index % 6}`) },
      paths: it.points || heat ? () => null : undefined,
      value: (_, value) => show(chart.y.unit, value),
    }));
    const y = chart.cells.map(it => [it[2], it[3]]).flat();
    return {
      width,
      height: width < 480 ? 220 : 270,
      padding: [12, 32, 0, 0],
      cursor: { y: false, points: { show: !heat } },
      legend: { live: !heat, show: !heat },
      scales: {
        x: { time: false, ...log(chart.x), ...(heat ? { range: [0, Math.max(...chart.cells.map(it => it[1]))] } : {}) },
        y: { ...log(chart.y), range: heat ? [Math.min(...y), Math.max(...y)] : bottom(chart.y) },
      },
      axes: [axis('x', chart.x), axis('y', chart.y)],
      series: [{ label: chart.x.label, value: (_, value) => show(chart.x.unit, value) }, ...series],
      hooks: heat ? { draw: [cells(chart)] } : {},
    };
  }

  function draw(place, width) {
    const chart = charts[place.dataset.chart];
    drawn.get(place)?.destroy();
    const data = [chart.x.values, ...chart.series.map(it => it.values)];
    drawn.set(place, new uPlot(options(chart, width ?? place.clientWidth), data, place));
  }
  const places = [...document.querySelectorAll('[data-chart]')];
  const drawAll = width => places.forEach(it => draw(it, width));

  const theme = document.getElementById('theme');
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.dataset.theme ?? (dark.matches ? 'dark' : 'light')) === 'dark';
  const name = () => { theme.textContent = isDark() ? 'Light' : 'Dark'; };
  theme.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    name();
    drawAll();
  });
  dark.addEventListener('change', () => { name(); drawAll(); });

  // Paper is white and as wide as A4 between its margins.
  let screen;
  addEventListener('beforeprint', () => {
    screen = root.dataset.theme;
    root.dataset.theme = 'light';
    drawAll(660);
  });
  addEventListener('afterprint', () => {
    if (screen === undefined) delete root.dataset.theme; else root.dataset.theme = screen;
    drawAll();
  });

  let width = root.clientWidth;
  addEventListener('resize', () => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    drawAll();
  });
  name();
  drawAll();
})();
