import type { Log } from "../schemas/host/log.ts";
import { parseTrustedProxies, type TrustedProxies } from "../schemas/net/forwarded-for.ts";
import { systemClock } from "../schemas/time/clock.ts";
import type { IngressMetrics } from "./metrics.ts";
import { rememberHops } from "./request/client-ip.ts";
import { type DeviceReader, openDevices } from "./request/device.ts";
import { type GeoReader, openGeo } from "./request/geo.ts";
import { LookupLimit } from "./request/lookup-limit.ts";
import type { IngressSettings } from "./settings.ts";

/** Opens the readers that turn a request into facts. Opening the geographic databases takes about a second. */
export async function openReaders(
  settings: IngressSettings,
  events: Pick<IngressMetrics, "guessed">,
  log: Log,
): Promise<{
  trustedProxies: TrustedProxies;
  devices: DeviceReader;
  geo: GeoReader;
  lookups: LookupLimit;
}> {
  const trustedProxies = rememberHops(parseTrustedProxies(settings.trustedProxies));
  const perMinute = settings.ipLookupsPerMinute;
  return {
    trustedProxies,
    lookups: new LookupLimit({ perMinute, trustedProxies, clock: systemClock }),
    devices: openDevices(events.guessed),
    geo: await openGeo(settings.geo, { log }),
  };
}
