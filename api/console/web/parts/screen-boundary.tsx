import { Component, type ReactElement, type ReactNode } from "react";
import { isMissingChunk } from "../client/watch-updates.ts";

type Props = { readonly children: ReactNode };

/** A screen that fails takes nothing else with it. */
export class ScreenBoundary extends Component<Props, { readonly error: Error | undefined }> {
  override state: { readonly error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { readonly error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error === undefined ? this.props.children : <Failed error={error} />;
  }
}

function Failed({ error }: { readonly error: Error }): ReactElement {
  const isOld = isMissingChunk(error);
  return (
    <section className="panel stack" role="alert">
      <h1>{isOld ? "The console was updated" : "This screen failed"}</h1>
      <p className="muted">
        {isOld
          ? "This page is of the release before. Load it again to go on."
          : `Your data are safe. ${error.message}`}
      </p>
      <div className="row">
        <button type="button" className="button first" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>
    </section>
  );
}
