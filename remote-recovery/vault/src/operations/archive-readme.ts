/**
 * Commands that open an archive with the standard `age` 1.3. File names are ids; titles are in the
 * tickets.
 */
const shellCommands = `for ticket in *.ticket.age; do
  id="\${ticket%.ticket.age}"
  age -d -i exit.txt "$ticket" > "$id.json"
  grep -o '"content_identity":"[^"]*"' "$id.json" | cut -d '"' -f 4 > "$id.key"
  age -d -i "$id.key" "$id.age" | head -c "$(grep -o '"size":[0-9]*' "$id.json" | cut -d : -f 2)" > "$id.opened"
done
`;

/** Writes with `-o`, because PowerShell would decode redirected bytes as text. */
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

export const readmeFiles = [
  {
    name: "README.txt",
    text: `Exported secrets
================

Each secret is two files: ID.ticket.age contains its title and the key of its content, ID.age is the content.
The tickets open with the key of the archive that was shown when it was made (AGE-SECRET-KEY-PQ-1...). It is not in this archive.

You need age 1.3 or newer (https://age-encryption.org). Save the key of the archive as exit.txt in this folder, open a terminal here, and run, on Linux and macOS:

${shellCommands}
On Windows, in PowerShell:

${powerShellCommands}
Then ID.json contains title, tags and file name, and ID.opened is the secret; a record is JSON with its fields. When you are done, delete the .json, .key and .opened files: they are not encrypted.
manifest.json has the SHA-256 of every encrypted file, in base64url.
`,
  },
  {
    name: "LEEME.txt",
    text: `Secretos exportados
===================

Cada secreto son dos archivos: ID.ticket.age contiene su título y la clave de su contenido, ID.age es el contenido.
Los tickets se abren con la llave de la exportación que viste al hacerla (AGE-SECRET-KEY-PQ-1...). No está aquí dentro.

Necesitas age 1.3 o posterior (https://age-encryption.org). Guarda la llave de la exportación como exit.txt en esta carpeta, abre una terminal aquí y ejecuta, en Linux y macOS:

${shellCommands}
En Windows, en PowerShell:

${powerShellCommands}
Después, ID.json contiene el título, las etiquetas y el nombre, e ID.opened es el secreto; una ficha es JSON con sus campos. Cuando termines, borra los archivos .json, .key y .opened: no están cifrados.
manifest.json tiene el SHA-256 de cada archivo cifrado, en base64url.
`,
  },
] as const;
