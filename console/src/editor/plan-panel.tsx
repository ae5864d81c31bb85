// The panel beside the editor: time per stage, plan and SQL of the last request.

import { useEffect, useState } from 'react';
import { explain } from '../server/requests';
import type { Explanation, LastRequest } from '../server/requests';

function Stages({ last }: { last: LastRequest }) {
  const total = last.stages.find(stage => stage.name === 'total');
  const parts = last.stages.filter(stage => stage.name !== 'total');
  const longest = Math.max(...parts.map(stage => stage.ms), 0.001);
  return (
    <section>
      <h3>Time per stage</h3>
      <table className="weir-stages">
        <tbody>
          {parts.map(stage => (
            <tr key={stage.name}>
              <td>{stage.name}</td>
              <td className="weir-ms">{stage.ms.toFixed(3)} ms</td>
              <td className="weir-bar">
                <i style={{ width: `${Math.max(1, (100 * stage.ms) / longest)}%` }} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="weir-note">
        {total ? `${total.ms.toFixed(3)} ms in the server, ` : ''}
        {last.bytes.toLocaleString('en')} bytes
      </p>
    </section>
  );
}

/** The plan, with what a role's policy added to it set off. */
function PlanText({ plan }: { plan: string }) {
  // The engine counts pieces from 0.
  const readable = plan.replace(/\bpiece (\d+)\b/g, (_, number) => `step ${Number(number) + 1}`);
  const parts = readable.split(/(^ *policy of .*$)/m);
  return <pre tabIndex={0} aria-label="Plan" data-testid="plan">{parts.map((part, at) => (at % 2 ? <mark key={at}>{part}</mark> : part))}</pre>;
}

export function PlanPanel({ last }: { last: LastRequest | null }) {
  const [explanation, setExplanation] = useState<Explanation | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    if (!last) return;
    let current = true;
    explain(last).then(
      it => current && (setExplanation(it), setFailure(null)),
      error => current && (setExplanation(null), setFailure(String(error.message ?? error))),
    );
    return () => {
      current = false;
    };
  }, [last]);
  if (!last) return <div className="weir-plan"><h2>Plan</h2><p>Run an operation to see its plan, its SQL and where its time went.</p></div>;
  return (
    <div className="weir-plan">
      <h2>Plan</h2>
      <Stages last={last} />
      {failure && <p role="alert">{failure}</p>}
      {explanation && (
        <>
          <section>
            <h3>{last.caller.role ? `Plan for ${last.caller.role}` : 'Plan'}</h3>
            <PlanText plan={explanation.plan} />
          </section>
          {explanation.steps.map((step, at) => (
            <section key={at}>
              <h3>Asked of {step.source}</h3>
              <pre tabIndex={0} aria-label={`Asked of ${step.source}`} data-testid="sql">{step.text}</pre>
            </section>
          ))}
        </>
      )}
    </div>
  );
}
