import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes the configuration of the second baseline: nginx, one worker, a redirect, an access log on disk. Returns its path. */
export function writeNginxConfig(folder: string, port: number): string {
  for (const name of ["body", "proxy", "fastcgi", "uwsgi", "scgi"])
    mkdirSync(join(folder, name), { recursive: true });
  const path = join(folder, "nginx.conf");
  writeFileSync(
    path,
    `daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log ${folder}/access.log combined;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  keepalive_requests 100000000;
  server {
    listen 127.0.0.1:${port};
    location / { return 302 https://example.com/landing?click_id=$request_id; }
  }
}
`,
  );
  return path;
}
