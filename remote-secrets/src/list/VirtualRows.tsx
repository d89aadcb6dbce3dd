import type { SecretRow } from "@relicario/shared/contract";
import { space } from "@relicario/shared/ui";
import { measureElement, useWindowVirtualizer } from "@tanstack/react-virtual";
import { useDeferredValue, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { styled } from "styled-components";

interface VirtualRowsProps {
  readonly rows: readonly SecretRow[];
  /** What these rows are. */
  readonly label: string;
  /** The row to begin at, when it is among them. */
  readonly startAt: string | null;
  readonly children: (row: SecretRow) => ReactNode;
}

/** Pixels of a usual row; each is measured once it is drawn. */
const usualHeight = 80;
const gap = 12;
const beyondTheEdge = 6;

/** Only the rows in sight are drawn, with a few beyond the edges, which the keyboard needs to go on. */
export function VirtualRows({ rows, label, startAt, children }: VirtualRowsProps) {
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  // Other rows: first those in sight, then those beyond the edges, once the first are painted.
  const settled = useDeferredValue(rows) === rows;
  const virtual = useWindowVirtualizer<HTMLLIElement>({
    count: rows.length,
    estimateSize: () => usualHeight,
    getItemKey: (index) => rows[index]?.secretId ?? index,
    // Where nothing is laid out, heights are 0: the estimate stands.
    measureElement: (element, entry, instance) => measureElement(element, entry, instance) || usualHeight,
    gap,
    overscan: settled ? beyondTheEdge : 1,
    scrollMargin: top,
  });

  // What stands above the list comes and goes (filters, notices): the list tells where it begins after each drawing.
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the same place again draws nothing anew, so the chain ends
  useLayoutEffect(() => {
    const box = list.current?.getBoundingClientRect();
    if (box !== undefined) setTop(Math.round(box.top + window.scrollY));
  });
  const begin = useRef(startAt);
  useLayoutEffect(() => {
    const index = rows.findIndex(({ secretId }) => secretId === begin.current);
    begin.current = null;
    if (index > 0) virtual.scrollToIndex(index, { align: "center" });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once, when the list comes
  }, []);

  return (
    <Rows ref={list} aria-label={label} style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map((item) => {
        const row = rows[item.index];
        return row === undefined ? null : (
          <Item
            key={item.key}
            ref={virtual.measureElement}
            data-index={item.index}
            aria-setsize={rows.length}
            aria-posinset={item.index + 1}
            style={{ transform: `translateY(${String(item.start - top)}px)` }}
          >
            {children(row)}
          </Item>
        );
      })}
    </Rows>
  );
}

const Rows = styled.ul`
  position: relative;
  margin: 0;
`;

const Item = styled.li`
  position: absolute;
  top: 0;
  left: 0;
  width: 100%;
  & > * { margin: 0; padding-block: ${space(3)}; }
`;
