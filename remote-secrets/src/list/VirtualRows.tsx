import type { SecretRow } from "@relicario/shared/contract";
import { space } from "@relicario/shared/ui";
import { measureElement, useWindowVirtualizer } from "@tanstack/react-virtual";
import { useDeferredValue, useEffectEvent, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { styled } from "styled-components";

interface VirtualRowsProps {
  readonly rows: readonly SecretRow[];
  /** Accessible name of the list. */
  readonly label: string;
  /** Id of the row to scroll to on mount; ignored when it is not among `rows`. */
  readonly initialRowId: string | null;
  readonly children: (row: SecretRow) => ReactNode;
}

/** Pixels of a row until it is rendered and measured. */
const estimatedHeight = 80;
const gap = 12;
/** Rows rendered beyond the viewport, so that Tab can move on to them. */
const overscanRows = 6;

/** Renders only the rows in the viewport and a few beyond it. */
export function VirtualRows({ rows, label, initialRowId, children }: VirtualRowsProps) {
  const listRef = useRef<HTMLUListElement>(null);
  const [offsetTop, setOffsetTop] = useState(0);
  // When rows come or change, the viewport is painted first; the overscan rows follow in the
  // deferred render.
  const isDeferredRender = useDeferredValue<readonly SecretRow[] | null>(rows, null) === rows;
  const virtualizer = useWindowVirtualizer<HTMLLIElement>({
    count: rows.length,
    estimateSize: () => estimatedHeight,
    getItemKey: (index) => rows[index]?.secretId ?? index,
    // Height is 0 where there is no layout (jsdom, hidden page): use the estimate then.
    measureElement: (element, entry, instance) => measureElement(element, entry, instance) || estimatedHeight,
    gap,
    overscan: isDeferredRender ? overscanRows : 1,
    scrollMargin: offsetTop,
  });

  // Filters and notices above the list come and go, so its offset is measured after each render. A
  // ResizeObserver would miss
  // them where the page is shorter than the window, and its height stays.
  // eslint-disable-next-line react-hooks/exhaustive-deps -- setting the same value again does not re-render, so this ends
  useLayoutEffect(() => {
    const bounds = listRef.current?.getBoundingClientRect();
    if (bounds !== undefined) setOffsetTop(Math.round(bounds.top + window.scrollY));
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
