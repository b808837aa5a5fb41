/*
 * Networks whose addresses belong to machines and not to people. Numbers: the public registrations of well-known cloud and
 * hosting companies, each found under its company's name in the ASN table of the install. Delivery networks that carry ordinary
 * visitors through a browser's privacy relay (13335, 36183, 54113) are left out on purpose.
 */
const HOSTING_ASNS: ReadonlySet<number> = new Set([
  // Amazon, Google Cloud, Microsoft, Oracle, IBM
  16509, 14618, 8987, 62785, 396982, 19527, 8075, 8068, 8069, 31898, 36351,
  // Alibaba, Tencent, Huawei, Baidu, Kingsoft
  45102, 37963, 132203, 45090, 136907, 55990, 38365, 55967, 59019,
  // DigitalOcean, OVH, Hetzner, Linode, Vultr, Scaleway, Contabo
  14061, 393406, 16276, 24940, 213230, 212317, 63949, 20473, 12876, 51167, 40021, 141995,
  // Leaseweb
  60781, 28753, 30633, 59253, 133752, 205544, 396362, 394380, 395954,
  // M247, Datacamp, Hostinger, GoDaddy, Host Europe, Rackspace
  9009, 60068, 212238, 47583, 26496, 398101, 31815, 20773, 34011, 8972, 27357, 33070, 19994, 15395,
  // DreamHost, Newfold, A2, QuadraNet, FranTech, HostPapa, B2, IT7, Sharktech, Eonix, Psychz, Namecheap
  26347,
  46606, 29873, 55293, 8100, 53667, 36352, 54290, 55286, 25820, 46844, 62904, 40676, 22612,
  // UK2, UK Dedicated, iomart, netcup, IONOS, Strato, velia, WorldStream, NForce, Serverius, Scalaxy
  13213,
  42831, 20860, 197540, 8560, 6724, 29066, 30083, 49981, 43350, 50673, 58061,
  // Green Floid, HostRoyale, Gcore, UpCloud, Sakura, GMO, Zenlayer, Internap, Interserver, Wowrack, Packet
  204957,
  21100, 203020, 199524, 202053, 9370, 7506, 21859, 32475, 19318, 27323, 54825,
  // Yandex Cloud, Selectel, Timeweb, REG.RU, Hosting technology, PIN, Aeza-like resellers, WEDOS
  200350, 49505, 9123, 197695, 48282, 34665, 44477, 197019, 202425, 51396, 44592, 56630, 57043,
  // Global Layer, Multacom, ReliableSite, tzulo, firstcolo, DataWeb, Hivelocity, Cherry, Dedicated.com
  49453,
  35916, 23470, 11878, 44066, 39572, 29802, 61317, 16125, 63018, 64286,
  // Nocix, GorillaServers, Liquid Web, IOFlood, InMotion, GloboTech, Webzilla, Servers.com, Vivid, CNServers
  33387,
  53850, 32244, 53755, 54641, 3842, 36666, 14576, 20738, 35415, 55081, 7979, 46664, 64200, 40065,
]);

/** Words in the names of hosting networks, in several languages. */
const HOSTING_WORDS =
  /\b(hosting|hosters?|webhost(ing)?|data ?cent(er|re)s?|cloud|vps|dedicated servers?|virtual servers?|colocation)\b/i;

/** Whether an address of this network belongs to a machine in a data centre (G155). */
export function isHostingNetwork(asn: number, asName: string): boolean {
  return HOSTING_ASNS.has(asn) || HOSTING_WORDS.test(asName);
}
