/** `http://address:port` for a client on this machine. An address that means "all" becomes loopback. */
export function listenerOrigin(address: string, port: number): string {
  if (address === "0.0.0.0") return `http://127.0.0.1:${port}`;
  if (address === "::") return `http://[::1]:${port}`;
  return address.includes(":") ? `http://[${address}]:${port}` : `http://${address}:${port}`;
}
