/**
 * How to open an archive with the standard `age`, version 1.3 or newer. The names of the files are
 * ids: titles stand in the tickets.
 */
const shellCommands = `for ticket in *.ticket.age; do
  id="\${ticket%.ticket.age}"
  age -d -i exit.txt "$ticket" > "$id.json"
  grep -o '"content_identity":"[^"]*"' "$id.json" | cut -d '"' -f 4 > "$id.key"
  age -d -i "$id.key" "$id.age" | head -c "$(grep -o '"size":[0-9]*' "$id.json" | cut -d : -f 2)" > "$id.opened"
done
`;

/**
 * The same for Windows. Programs write by `-o`: PowerShell would take redirected bytes for text.
 */
const powerShellCommands = `Get-ChildItem *.ticket.age | ForEach-Object {
  $id = $_.Name -replace '\\.ticket\\.age$', ''
  age -d -i exit.txt -o "$id.json" $_.Name
  $ticket = Get-Content -Raw -Encoding UTF8 "$id.json" | ConvertFrom-Json
  Set-Content -Encoding Ascii "$id.key" $ticket.content_identity
  age -d -i "$id.key" -o "$id.opened" "$id.age"
  $opened = [IO.File]::Open((Join-Path $PWD.Path "$id.opened"), [IO.FileMode]::Open)
  $opened.SetLength($ticket.size)
  $opened.Close()
}
`;

/** In both languages of the portal, so that whoever finds the archive years later can read one. */
export const readmeFiles = [
  {
    name: "README.txt",
    text: `Exported secrets
================

Each secret is two files: ID.ticket.age says its title and holds the key of its content, ID.age is the content.
The tickets open with the exit identity that was shown when this archive was made (AGE-SECRET-KEY-PQ-1...). It is not in this archive.

You need age 1.3 or newer (https://age-encryption.org). Save the exit identity as exit.txt in this folder, open a terminal here, and run, on Linux and macOS:

${shellCommands}
On Windows, in PowerShell:

${powerShellCommands}
Then ID.json says title, tags and file name, and ID.opened is the secret. Delete the .json, .key and .opened files when you are done: they are not sealed.
manifest.json has the SHA-256 of every sealed file, in base64url.
`,
  },
  {
    name: "LEEME.txt",
    text: `Secretos exportados
===================

Cada secreto son dos archivos: ID.ticket.age dice su título y guarda la clave de su contenido, ID.age es el contenido.
Los tickets se abren con la identidad de salida que viste al hacer este archivo (AGE-SECRET-KEY-PQ-1...). No está aquí dentro.

Necesitas age 1.3 o posterior (https://age-encryption.org). Guarda la identidad de salida como exit.txt en esta carpeta, abre una terminal aquí y ejecuta, en Linux y macOS:

${shellCommands}
En Windows, en PowerShell:

${powerShellCommands}
Después, ID.json dice el título, las etiquetas y el nombre, e ID.opened es el secreto. Borra los archivos .json, .key y .opened cuando termines: no están sellados.
manifest.json tiene el SHA-256 de cada archivo sellado, en base64url.
`,
  },
] as const;
