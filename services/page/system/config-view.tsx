import type { ConfigInForce } from '../../../shared/client/main.ts';
import { changeQuery, route } from '../base/route.ts';
import { Empty, LineToCopy } from '../parts/empty.tsx';
import { Pane, useRead } from '../parts/read.tsx';
import { changeWords, configValue, originWords } from './config-words.ts';

/** Links of the documents as plain words. */
const plain = (text: string): string => text.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', '');

/** The configuration in force in this gateway, and the processes that have another one. */
const ConfigView = () => {
  const read = useRead<ConfigInForce>('/v1/config');
  const { find: q = '', show = 'set' } = route.value.query;
  const { file = null, keys = [], processes = [] } = read.value ?? {};
  const wanted = q.toLowerCase();
  const shown = keys.filter(
    ({ path, origin, effect = '' }) =>
      `${path} ${plain(effect)}`.toLowerCase().includes(wanted) && (show === 'all' || q !== '' || origin !== 'default'),
  );
  const others = processes.filter(({ differsIn }) => differsIn.length > 0);
  return (
    <Pane
      title="Configuration"
      hint={
        file === null
          ? 'There is no file: every value is a default or from the environment.'
          : `From ${file}, the environment and defaults.`
      }
      read={read}
    >
      {others.map(({ process, differsIn }) => (
        <p key={process} class="item-trouble">
          {process} runs with another configuration in: {differsIn.join(', ')}. Restart it, or give it the same file.
        </p>
      ))}
      {processes.length > 0 && others.length === 0 && <p class="hint">All processes run with the same configuration.</p>}
      <div class="fields">
        <label class="field">
          <span>Find a setting, by its name or by what it does</span>
          <input type="search" defaultValue={q} onInput={(event) => changeQuery({ find: event.currentTarget.value })} />
        </label>
        <label class="field">
          <span>Show</span>
          <select value={show} onChange={(event) => changeQuery({ show: event.currentTarget.value })}>
            <option value="set">What was set</option>
            <option value="all">Everything</option>
          </select>
        </label>
      </div>
      {shown.length === 0 ? (
        <Empty title={q === '' ? 'All settings have their defaults' : 'No such setting'}>
          <p>
            {q === ''
              ? 'What you set in the file or by the environment is listed here. Choose “Everything” to see the defaults.'
              : 'No setting has this in its name, such as “agent.model”, or in what is said of it.'}
          </p>
          <LineToCopy says="On a terminal all settings are explained by:" line="natter config schema" />
        </Empty>
      ) : (
        <dl class="keys">
          {shown.map((one) => (
            <div key={one.path} class={one.origin === 'default' ? '' : 'key-set'}>
              <dt>
                <code>{one.path}</code>
              </dt>
              <dd>
                {one.effect !== undefined && <p class="hint">{plain(one.effect)}</p>}
                <p>
                  Now: <code>{configValue(one)}</code>
                </p>
                <p>From: {originWords(one)}</p>
                <p>A change {changeWords(one)}</p>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Pane>
  );
};
export default ConfigView;
