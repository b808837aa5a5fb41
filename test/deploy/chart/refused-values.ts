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
  { set: ['servers.nats.keys.api=""'], sentence: /nats.*api/s },
  { set: ['servers.nats.keys.cert="tls.crt"'], sentence: /nats.*key/s },
  { set: ['servers.nats.keys.sysUrl=""'], sentence: /strict.*sysUrl/s },
  { set: ['durability.mode="loose"'], sentence: /durability.*mode/s },
  { set: ['console.existingSecret=""'], sentence: /console.*existingSecret/s },
  { set: ['smtp.existingSecret="mail"'], sentence: /smtp.*from/s },
  { set: ['oidc.issuer="https://accounts.example.com"'], sentence: /oidc.*clientId/s },
  { set: ['api.secretEnv.LOG_LEVEL={"secret":"a","key":"b"}'], sentence: /secretEnv|LOG_LEVEL/ },
  { set: ["backup.enabled=true"], sentence: /backup\.clickhouse\.destination/ },
  {
    set: ["backup.enabled=true", "backup.clickhouse.enabled=false"],
    sentence: /backup\.existing(Claim|Secret)/,
  },
  {
    set: [
      "backup.enabled=true",
      "backup.clickhouse.enabled=false",
      "backup.postgres.enabled=false",
    ],
    sentence: /nothing to back up/,
  },
];
