// What a page says where the server has no metadata API for it.

export function NoMetadata() {
  return <p role="alert">This address has no metadata API: a server with <code>admin_listen</code> has it there, and no other caller than the admin may ask it.</p>;
}
