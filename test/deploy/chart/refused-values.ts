/** Values that the chart must refuse, and what its message must say. */
export const REFUSED_VALUES: readonly {
  readonly set: readonly string[];
  readonly sentence: RegExp;
}[] = [
  { set: ['image.repository=""'], sentence: /repository/ },
  { set: ['servers.postgres.existingSecret=""'], sentence: /postgres.*existingSecret/s },
  { set: ['ingress.journal.storageClass=""'], sentence: /storageClass/ },
  { set: ['trackingUrl="go.example.com"'], sentence: /trackingUrl/ },
  { set: ["ingress.workers=0"], sentence: /workers/ },
  { set: ['ingress.journal.sync="none"'], sentence: /sync/ },
  { set: ["ingres={}"], sentence: /ingres/ },
  { set: ['env.lower="1"'], sentence: /lower|env/ },
  { set: ["drainStoredSeconds=120"], sentence: /terminationGracePeriodSeconds.*140/s },
  { set: ['servers.nats.keys.user="username"'], sentence: /nats.*password/s },
];
