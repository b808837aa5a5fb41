import type { IngressMetrics } from "./metrics.ts";
import { parseTrustedProxies, type TrustedProxies } from "./request/client-ip.ts";
import { type DeviceReader, openDevices } from "./request/device.ts";
import { type GeoReader, openGeo } from "./request/geo.ts";
import type { IngressSettings } from "./settings.ts";

/** What turns a request into facts. Opening reads the geographic databases: about a second. */
export async function openReaders(
  settings: IngressSettings,
  events: Pick<IngressMetrics, "guessed">,
): Promise<{
  trustedProxies: TrustedProxies;
  devices: DeviceReader;
  geo: GeoReader;
}> {
  const { cityDb, asnDb } = settings.geo;
  return {
    trustedProxies: parseTrustedProxies(settings.trustedProxies),
    devices: openDevices(events.guessed),
    geo: await openGeo({
      ...(cityDb === "" ? {} : { cityDb }),
      ...(asnDb === "" ? {} : { asnDb }),
    }),
  };
}
