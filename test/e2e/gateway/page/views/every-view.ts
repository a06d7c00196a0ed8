/** Every view with what shows that it is there, for a session. `inChat`: what shows that its chat is there. */
export const everyView = (key: string, inChat: string): readonly (readonly [fragment: string, selector: string])[] => {
  const ofSession = `#/sessions/${encodeURIComponent(key)}`;
  return [
    [`${ofSession}/chat`, inChat],
    [`${ofSession}/transcript`, '.line'],
    ['#/approvals', '.empty'],
    ['#/account', '.themes'],
    ['#/events', '.event-row'],
    ['#/system', '.places li'],
    ['#/system/hosts', '.hosts-one'],
    [`#/system/hosts?key=${encodeURIComponent(key)}`, '.cells .cell-0'],
    ['#/system/doctor', '.item'],
    ['#/system/metrics', '.metric'],
    ['#/system/deliveries', '.item'],
    ['#/system/dead-letters', '.item'],
    ['#/system/channels', '.empty'],
    ['#/system/memory', '.item'],
    ['#/system/skills', '.empty'],
    ['#/system/schedules', '.item'],
    ['#/system/config', '.empty'],
    ['#/system/config?show=all', '.keys div'],
    ['#/system/log', '.log-line'],
    ['#/system/access', '.item'],
    ['#/system/audit', '.item'],
  ];
};
