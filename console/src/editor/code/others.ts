// An operation as code for a shell, Python, Go and Rust.

import { bodyOf, credentialHeader, credentialVariable, goText, lineText, pythonText, pythonValue, rustText, shellText } from './snippet';
import type { Snippet } from './snippet';

const isLive = (it: Snippet) => it.kind === 'subscription';

export function curlCode(it: Snippet): string {
  const headers = Object.entries({ 'content-type': 'application/json', ...(isLive(it) ? { accept: 'text/event-stream' } : {}), ...it.headers });
  const lines = [
    `curl -sS${isLive(it) ? 'N' : ''} ${shellText(it.url)}`,
    ...headers.map(([name, value]) => `-H ${shellText(`${name}: ${value}`)}`),
    ...(it.credential ? [`-H "${credentialHeader(it)}: ${it.credential === 'token' ? 'Bearer ' : ''}$${credentialVariable(it)}"`] : []),
    `--data-binary ${shellText(bodyOf(it))}`,
  ];
  return `${lines.join(' \\\n  ')}\n`;
}

export function pythonCode(it: Snippet): string {
  const headers = Object.entries(it.headers).map(([name, value]) => `${lineText(name)}: ${lineText(value)}`);
  if (it.credential) headers.push(`${lineText(credentialHeader(it))}: ${it.credential === 'token' ? '"Bearer " + ' : ''}os.environ["${credentialVariable(it)}"]`);
  const headersText = headers.length === 0 ? '{}' : `{\n    ${headers.join(',\n    ')},\n}`;
  const name = it.operationName === null ? '' : `, operation_name=${lineText(it.operationName)}`;
  const query = [
    `query = gql(${pythonText(it.query)})`,
    `variables = ${it.variables === null ? '{}' : pythonValue(it.variables)}`,
    // Since version 4 variables belong to the request.
    `request = GraphQLRequest(query, variable_values=variables${name})`,
  ];
  const imports = [...(it.credential ? ['import os'] : []), ...(isLive(it) ? ['import asyncio'] : []), ...(it.credential || isLive(it) ? [''] : [])];
  if (isLive(it)) {
    return [
      ...imports,
      'from gql import Client, GraphQLRequest, gql',
      'from gql.transport.websockets import WebsocketsTransport',
      '',
      ...query,
      '',
      '',
      'async def main():',
      `    transport = WebsocketsTransport(url=${lineText(it.url.replace(/^http/, 'ws'))}, init_payload={"headers": headers})`,
      '    async with Client(transport=transport) as session:',
      '        async for result in session.subscribe(request):',
      '            print(result)',
      '',
      '',
      `headers = ${headersText}`,
      'asyncio.run(main())',
      '',
    ].join('\n');
  }
  return [
    ...imports,
    'from gql import Client, GraphQLRequest, gql',
    'from gql.transport.requests import RequestsHTTPTransport',
    '',
    `headers = ${headersText}`,
    `transport = RequestsHTTPTransport(url=${lineText(it.url)}, headers=headers)`,
    'client = Client(transport=transport)',
    '',
    ...query,
    'print(client.execute(request))',
    '',
  ].join('\n');
}

export function goCode(it: Snippet): string {
  const headers = Object.entries({ 'content-type': 'application/json', ...(isLive(it) ? { accept: 'text/event-stream' } : {}), ...it.headers });
  const imports = [...(isLive(it) ? ['"bufio"'] : ['"io"']), '"fmt"', '"log"', '"net/http"', ...(it.credential ? ['"os"'] : []), '"strings"'].sort();
  const read = isLive(it)
    ? ['lines := bufio.NewScanner(response.Body)', 'lines.Buffer(nil, 16<<20)', 'for lines.Scan() {', '\tif data, found := strings.CutPrefix(lines.Text(), "data:"); found {', '\t\tfmt.Println(data)', '\t}', '}', 'if err := lines.Err(); err != nil {', '\tlog.Fatal(err)', '}']
    : ['answer, err := io.ReadAll(response.Body)', 'if err != nil {', '\tlog.Fatal(err)', '}', 'fmt.Println(string(answer))'];
  return [
    'package main',
    '',
    'import (',
    ...imports.map(name => `\t${name}`),
    ')',
    '',
    'func main() {',
    `\tbody := ${goText(bodyOf(it))}`,
    `\trequest, err := http.NewRequest(http.MethodPost, ${lineText(it.url)}, strings.NewReader(body))`,
    '\tif err != nil {',
    '\t\tlog.Fatal(err)',
    '\t}',
    ...headers.map(([name, value]) => `\trequest.Header.Set(${lineText(name)}, ${lineText(value)})`),
    ...(it.credential ? [`\trequest.Header.Set(${lineText(credentialHeader(it))}, ${it.credential === 'token' ? '"Bearer "+' : ''}os.Getenv(${lineText(credentialVariable(it))}))`] : []),
    '\tresponse, err := http.DefaultClient.Do(request)',
    '\tif err != nil {',
    '\t\tlog.Fatal(err)',
    '\t}',
    '\tdefer response.Body.Close()',
    ...read.map(line => `\t${line}`),
    '}',
    '',
  ].join('\n');
}

export function rustCode(it: Snippet): string {
  const headers = Object.entries({ 'content-type': 'application/json', ...(isLive(it) ? { accept: 'text/event-stream' } : {}), ...it.headers });
  const secret = it.credential === null ? [] : [
    `        .header(${rustText(credentialHeader(it))}, ${it.credential === 'token' ? `format!("Bearer {}", std::env::var("${credentialVariable(it)}")?)` : `std::env::var("${credentialVariable(it)}")?`})`,
  ];
  const read = isLive(it)
    ? ['    for line in BufReader::new(response).lines() {', '        if let Some(data) = line?.strip_prefix("data:") {', '            println!("{data}");', '        }', '    }']
    : ['    println!("{}", response.text()?);'];
  return [
    '// [dependencies]',
    '// reqwest = { version = "0.12", features = ["blocking"] }',
    ...(isLive(it) ? ['use std::io::{BufRead, BufReader};'] : []),
    '',
    'fn main() -> Result<(), Box<dyn std::error::Error>> {',
    `    let body = ${rustText(bodyOf(it))};`,
    '    let response = reqwest::blocking::Client::builder()',
    `        .timeout(${isLive(it) ? 'None' : 'std::time::Duration::from_secs(30)'})`,
    '        .build()?',
    `        .post(${rustText(it.url)})`,
    ...headers.map(([name, value]) => `        .header(${rustText(name)}, ${rustText(value)})`),
    ...secret,
    '        .body(body)',
    '        .send()?;',
    ...read,
    '    Ok(())',
    '}',
    '',
  ].join('\n');
}
