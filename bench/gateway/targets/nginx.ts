import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../../../test/harness/http/find-free-port.ts'
import { useOfTreeSinceLast } from '../../process-use.ts'
import { start, untilListening, type TargetSetup } from './start-program.ts'
import { completionsPath, model, type Target } from './target.ts'

/** nginx as a plain proxy: it keeps connections to the upstream open and passes each piece of an answer on at once. */
export async function startNginx(path: string, place: TargetSetup, upstream: URL): Promise<Target> {
  const port = await findFreePort()
  const configPath = join(place.folder, 'nginx.conf')
  mkdirSync(join(place.folder, 'logs'), { recursive: true })
  writeFileSync(configPath, configOf(place.folder, port, upstream))
  const started = start([path, '-p', place.folder, '-c', configPath], place)
  const url = new URL(completionsPath, `http://127.0.0.1:${port}`)
  await untilListening(url, started, 'nginx')
  const { pid } = started.child
  return {
    name: 'nginx',
    url,
    headers: {},
    model,
    use: () => Promise.resolve(pid === undefined ? null : useOfTreeSinceLast(pid)),
    report: () => Promise.resolve(null),
    stop: () => started.stop(),
  }
}

function configOf(folder: string, port: number, upstream: URL): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/logs/error.log;
events { worker_connections 8192; }
http {
  access_log ${folder}/logs/access.log;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  client_body_buffer_size 64k;
  keepalive_requests 100000000;
  upstream mock { server ${upstream.host}; keepalive 1024; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`
}
