import type { SecretRow } from "@relicario/shared/contract";
import { space } from "@relicario/shared/ui";
import { measureElement, useWindowVirtualizer } from "@tanstack/react-virtual";
import { useDeferredValue, useEffectEvent, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { styled } from "styled-components";

interface VirtualRowsProps {
  readonly rows: readonly SecretRow[];
  readonly label: string;
  /** Row to which the list scrolls on mount. Ignored if `rows` does not contain it. */
  readonly initialRowId: string | null;
  readonly children: (row: SecretRow) => ReactNode;
}

/** Height in pixels of a row that is not measured yet. */
const estimatedHeight = 80;
const gap = 12;
/** Number of rows rendered above and below the viewport, so that Tab can reach them. */
const overscanRows = 6;

/** Renders the rows in the viewport, and a few above and below it. */
export function VirtualRows({ rows, label, initialRowId, children }: VirtualRowsProps) {
  const listRef = useRef<HTMLUListElement>(null);
  const [offsetTop, setOffsetTop] = useState(0);
  // Renders new rows in two steps: first those in the viewport, then the others in the deferred
  // render.
  const isDeferredRender = useDeferredValue<readonly SecretRow[] | null>(rows, null) === rows;
  const virtualizer = useWindowVirtualizer<HTMLLIElement>({
    count: rows.length,
    estimateSize: () => estimatedHeight,
    getItemKey: (index) => rows[index]?.secretId ?? index,
    // Without layout (jsdom, hidden page) the height is 0. The estimate is used then.
    measureElement: (element, entry, instance) => measureElement(element, entry, instance) || estimatedHeight,
    gap,
    overscan: isDeferredRender ? overscanRows : 1,
    scrollMargin: offsetTop,
  });

  // Measures the list's offset after each render, because filters and notices above the list come
  // and go. A ResizeObserver would miss them on a page shorter than the window, whose height does
  // not change.
  const measureOffset = useEffectEvent(() => {
    const bounds = listRef.current?.getBoundingClientRect();
    if (bounds !== undefined) setOffsetTop(Math.round(bounds.top + window.scrollY)); // ends when it stays the same
  });
  useLayoutEffect(() => {
    measureOffset();
  });
  const scrollToInitialRow = useEffectEvent(() => {
    const index = rows.findIndex(({ secretId }) => secretId === initialRowId);
    if (index > 0) virtualizer.scrollToIndex(index, { align: "center" });
  });
  useLayoutEffect(() => {
    scrollToInitialRow();
  }, []);

  return (
    <Rows ref={listRef} aria-label={label} style={{ height: virtualizer.getTotalSize() }}>
      {virtualizer.getVirtualItems().map((item) => {
        const row = rows[item.index];
        return row === undefined ? null : (
          <Item
            key={item.key}
            ref={virtualizer.measureElement}
            data-index={item.index}
            aria-setsize={rows.length}
            aria-posinset={item.index + 1}
            style={{ transform: `translateY(${String(item.start - offsetTop)}px)` }}
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
  & > * {
    margin: 0;
    padding-block: ${space(3)};
  }
`;
