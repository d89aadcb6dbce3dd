import fc from "fast-check";

import { readCsvRows } from "./csv-rows.ts";

const read = (text: string, delimiter = ","): (readonly string[])[] =>
  [...readCsvRows(text, delimiter)].map(({ cells }) => cells);
const readDoubts = (text: string): boolean[] => [...readCsvRows(text, ",")].map(({ isDoubtful }) => isDoubtful);

describe("readCsvRows", () => {
  it.each<readonly [string, string, readonly (readonly string[])[]]>([
    [
      "three line ends in one file",
      "a,b\nc,d\r\ne,f\rg,h",
      [
        ["a", "b"],
        ["c", "d"],
        ["e", "f"],
        ["g", "h"],
      ],
    ],
    [
      "line ends in quotes",
      '"a\r\nb",c\r\n"d\ne\rf",g',
      [
        ["a\r\nb", "c"],
        ["d\ne\rf", "g"],
      ],
    ],
    ["doubled quotes", '"a""b","""",""\n', [['a"b', '"', ""]]],
    ["quotes in a cell that has none around it", 'a"b,"c"\n', [['a"b', "c"]]],
    [
      "an empty last cell",
      "a,\nb,",
      [
        ["a", ""],
        ["b", ""],
      ],
    ],
    ["lines without anything", "a\n\n\nb\n", [["a"], [""], [""], ["b"]]],
    ["nothing", "", []],
  ])("reads %s", (_name, text, rows) => {
    expect(read(text)).toEqual(rows);
  });

  it("reads an unclosed quote as a character and continues after it", () => {
    expect(read('a,"b,c\nd,e\n')).toEqual([
      ["a", '"b', "c"],
      ["d", "e"],
    ]);
    expect(readDoubts('a,"b,c\nd,e\n')).toEqual([true, false]);
  });

  it("marks a row as doubtful if its quotes should have been doubled", () => {
    expect(read('"a "b" c",d\ne\n')).toEqual([['a "b" c', "d"], ["e"]]);
    expect(readDoubts('"a "b" c",d\ne\n')).toEqual([true, false]);
  });

  it("reads RFC 4180 with any delimiter and any mix of line ends", () => {
    const cell = fc.string({ unit: fc.constantFrom('"', ",", ";", "\t", "|", "\n", "\r", "a", "ñ", " ", "\u001B") });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.array(cell, { minLength: 2, maxLength: 4 }), fc.constantFrom("\n", "\r\n", "\r"))),
        fc.constantFrom(",", ";", "\t", "|"),
        (rows, delimiter) => {
          const text = rows
            .map(([cells, end]) => `${cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(delimiter)}${end}`)
            .join("");
          expect(read(text, delimiter)).toEqual(rows.map(([cells]) => cells));
        },
      ),
    );
  });

  it("reads a file of unclosed quotes in the time of a few scans", () => {
    const text = '"a,"b\n'.repeat(200_000);
    expect(read(text).flat().join("").length).toBeGreaterThan(0);
  });
});
