import { s, space } from "@relicario/shared/ui";
import { styled } from "styled-components";

/** The logo, with the product's name unless compact. */
export function Logo({ product, compact = false }: { readonly product: string; readonly compact?: boolean }) {
  return (
    <Row>
      <svg viewBox="0 0 32 32" width={32} height={32} aria-hidden focusable="false">
        <rect width="32" height="32" rx="9" fill="var(--accent)" />
        <path
          d="M16 7c-5 0-8 3.4-8 8.2C8 20.6 12.4 24 16 26c3.6-2 8-5.4 8-10.8C24 10.4 21 7 16 7Z"
          fill="none"
          stroke="var(--on-accent)"
          strokeWidth="2"
        />
        <circle cx="16" cy="14.4" r="2.2" fill="var(--on-accent)" />
        <path d="M16 16v4" stroke="var(--on-accent)" strokeWidth="2" strokeLinecap="round" />
      </svg>
      {!compact && <Name>{product}</Name>}
    </Row>
  );
}

const Row = styled.span`
  display: inline-flex;
  align-items: center;
  gap: ${space(2.5)};
  min-width: 0;
  color: ${s("text")};
`;

const Name = styled.span`
  overflow: hidden;
  font-size: ${s("textLarge")};
  font-weight: 680;
  letter-spacing: -0.02em;
  text-overflow: ellipsis;
  white-space: nowrap;
`;
