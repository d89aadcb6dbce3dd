import { useContext, useEffect, type ReactNode } from "react";
import { styled } from "styled-components";

import { isolateBidi, removeBidiControls } from "../contract/bidi-isolation.ts";
import { PortalContext } from "../contract/portal.ts";
import { media, s, space } from "./tokens.ts";
import { renderVerbatim } from "./Verbatim.tsx";

export interface PageProps {
  /** As plain text, with a user's own text marked (`markVerbatim`). */
  readonly title: string;
  /** One or two sentences below the title. */
  readonly lead?: ReactNode;
  /** Buttons for the whole page. */
  readonly actions?: ReactNode;
  /** `text`: a column for reading and for forms. `wide`: for lists. */
  readonly width?: "text" | "wide";
  readonly children?: ReactNode;
}

/** Screen with its title as the first heading and as window title. */
export function Page({ title, lead, actions, width = "text", children }: PageProps) {
  const productName = useContext(PortalContext)?.vendor.branding.productName;
  useEffect(() => {
    const shownTitle = isolateBidi(removeBidiControls(title));
    document.title = productName === undefined ? shownTitle : `${shownTitle} · ${productName}`;
  }, [title, productName]);
  return (
    <PageBox $wide={width === "wide"}>
      <Header>
        <div>
          <Title>{renderVerbatim(title)}</Title>
          {lead !== undefined && <Lead>{lead}</Lead>}
        </div>
        {actions !== undefined && <Actions>{actions}</Actions>}
      </Header>
      {children}
    </PageBox>
  );
}

const PageBox = styled.div<{ readonly $wide: boolean }>`
  display: flex;
  flex-direction: column;
  gap: ${space(6)};
  width: 100%;
  max-width: ${({ $wide }) => ($wide ? "1040px" : "720px")};
  margin: 0 auto;
  padding: ${space(10)} ${space(6)} ${space(16)};
  ${media.mobile} {
    padding: ${space(6)} ${space(4)} ${space(10)};
    gap: ${space(5)};
  }
`;

const Header = styled.header`
  display: flex;
  flex-wrap: wrap;
  align-items: flex-start;
  justify-content: space-between;
  gap: ${space(4)};
  & > div:first-child {
    flex: 1 1 min(24rem, 60%);
    min-width: 0;
  }
`;

const Title = styled.h1`
  font-size: ${s("textDisplay")};
`;

const Lead = styled.p`
  margin-top: ${space(2)};
  color: ${s("textMuted")};
  max-width: ${s("lineLength")};
`;

const Actions = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(3)};
`;
